import {
  chmod,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeBinary } from '../../../scripts/package/installed-packages.mjs';
import { projectRoot, runTool } from '../../../scripts/project.mjs';
import { debianProgram } from '../../servers/debian-program.js';

/** What the base has of Debian, as far as the Dockerfile and the command use it. */
const programs = ['sh', 'env', 'ln', 'mkdir', 'chown', 'flock'];

let folder: string;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(command: string, args: readonly string[]): Promise<Ended> {
  return (await runTool(command, args)) as Ended;
}

/** Runs a builder that needs no daemon, with all that it keeps in the folder of this test. */
async function buildah(...args: readonly string[]): Promise<Ended> {
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  return run(debianProgram('buildah', 'buildah'), [...storage, '--storage-driver', 'vfs', ...args]);
}

/** The same, for steps that nothing can follow. @returns what it printed */
async function mustBuild(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await buildah(...args);
  if (code !== 0) throw new Error(`buildah ${args.join(' ')} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** Registries may be reached through a proxy with a certificate of its own. */
const certificates = process.env['NODE_EXTRA_CA_CERTS'];

/** Puts a program where the base has it, with the libraries that it loads. */
async function addProgram(root: string, path: string): Promise<void> {
  const { stdout } = await run('ldd', [path]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, library = '']) => library);
  for (const library of libraries) {
    const to = join(root, 'usr', library.replace(/^\/usr/, ''));
    await mkdir(dirname(to), { recursive: true });
    await copyFile(await realpath(library), to);
  }
}

/** The image that the Dockerfile begins with, of this machine's files: there may be no registry of images. */
async function makeBase(image: string): Promise<void> {
  const root = join(folder, 'base');
  for (const name of ['usr/bin', 'usr/local/bin', 'usr/local/lib/node_modules', 'etc', 'root']) {
    await mkdir(join(root, name), { recursive: true });
  }
  await mkdir(join(root, 'tmp'));
  await chmod(join(root, 'tmp'), 0o1777);
  for (const name of ['bin', 'lib', 'lib64']) await symlink(`usr/${name}`, join(root, name));
  for (const name of programs) {
    await addProgram(root, `/usr/bin/${name}`);
    await copyFile(await realpath(`/usr/bin/${name}`), join(root, 'usr/bin', name));
  }
  const node = await nodeBinary('22.23.3');
  await addProgram(root, node);
  await copyFile(node, join(root, 'usr/local/bin/node'));
  const npm = dirname(dirname(await realpath('/usr/bin/npm')));
  await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  await writeFile(
    join(root, 'etc/passwd'),
    'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n',
  );
  await writeFile(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
  if (certificates !== undefined) await copyFile(certificates, join(root, 'etc/extra.pem'));
  const container = await mustBuild('from', 'scratch');
  await mustBuild('copy', container, root, '/');
  await mustBuild('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', container);
  if (certificates !== undefined) {
    await mustBuild('config', '--env', 'NODE_EXTRA_CA_CERTS=/etc/extra.pem', container);
  }
  await mustBuild('commit', '--rm', container, `docker.io/library/${image}`);
}

describe('the image of the Dockerfile', () => {
  let container: string;
  beforeAll(async () => {
    if (process.getuid?.() !== 0) throw new Error('to build in a chroot takes root');
    folder = await mkdtemp(join(tmpdir(), 'sluice-image-'));
    const dockerfile = await readFile(join(projectRoot, 'examples', 'Dockerfile'), 'utf8');
    const [, image = ''] = /^FROM (\S+)$/m.exec(dockerfile) ?? [];
    await makeBase(image);
    const how = ['--pull-never', '--isolation', 'chroot', '--network', 'host'];
    const file = ['-f', join(projectRoot, 'examples', 'Dockerfile')];
    await mustBuild('build', ...how, ...file, '-t', 'sluice', projectRoot);
    container = await mustBuild('from', '--pull-never', 'sluice');
    // This builder puts a volume of its own over one that is given; other programs do not.
    await mustBuild('config', '--volume', '/data-', container);
  }, 600_000);
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  /** Runs the image's command in its folder and as its user, with a folder of this machine there. */
  async function sluice(data: string, ...args: readonly string[]): Promise<Ended> {
    const how = ['--isolation', 'chroot', '--volume', `${data}:/data`];
    return buildah('run', ...how, container, '--', 'sluice', ...args);
  }

  async function imageConfig(): Promise<{ readonly Cmd: readonly string[] }> {
    const text = await mustBuild('inspect', '--type', 'image', 'sluice');
    const { OCIv1 } = JSON.parse(text) as {
      readonly OCIv1: { readonly config: { readonly Cmd: readonly string[] } };
    };
    return OCIv1.config;
  }

  it('runs the command as a user that is not root, with its state in the volume', async () => {
    expect(await imageConfig()).toMatchObject({
      User: 'node',
      WorkingDir: '/data',
      Volumes: { '/data': {} },
      Entrypoint: ['sluice'],
    });
  });

  it('verifies a list of the volume', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    await chmod(data, 0o777);
    await writeFile(join(data, 'list.csv'), 'id,email\n1,good@sluice.test\n2,bad@sluice.test\n');
    const options = ['--email', 'email', '--country', 'US', '-o', 'verified.csv'];
    const ended = await sluice(data, 'verify', 'list.csv', ...options);
    expect(ended.stderr).toContain('wrote 2 rows');
    expect(ended.code).toBe(0);
    const rows = (await readFile(join(data, 'verified.csv'), 'utf8')).trimEnd().split('\n');
    expect(rows.slice(1).map((row) => row.split(',')[2])).toEqual(['verified', 'verified']);
    expect((await readdir(data)).toSorted()).toEqual(['list.csv', 'verified.csv']);
  });

  it('says which options there are when it is given none', async () => {
    const { Cmd } = await imageConfig();
    const { code, stdout } = await sluice(join(folder, 'data'), ...Cmd);
    expect(code).toBe(0);
    expect(stdout).toContain('Usage: sluice <command>');
  });
});
