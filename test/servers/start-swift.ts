import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { onTestFinished } from 'vitest';
import { debianProgram } from './debian-program.js';
import { freePort } from './free-port.js';
import { isListening, startProgram } from './start-program.js';

const kinds = ['account', 'container', 'object'] as const;

/** What three calls of `swift-ring-builder` make of each ring: nine starts of Python take longer than the test. */
const makeRings = `
import sys
from swift.common.ring import RingBuilder
for path, port in zip(sys.argv[1::2], sys.argv[2::2]):
    ring = RingBuilder(4, 1, 1)
    ring.add_dev(dict(id=0, region=1, zone=1, ip='127.0.0.1', port=int(port), device='disk', weight=100))
    ring.rebalance()
    ring.get_ring().save(path)
`;

const access = { accessKeyId: 'test:tester', secretAccessKey: 'a-secret-of-the-tests' };

/** OpenStack Swift on one disk, with its S3 interface and an empty bucket `lists`. */
export async function withSwift(): Promise<{
  readonly env: Readonly<Record<string, string>>;
  readonly client: S3Client;
}> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-swift-'));
  const devices = join(folder, 'devices');
  await mkdir(join(devices, 'disk'), { recursive: true });
  await writeFile(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = tests\n[storage-policy:0]\nname = one\ndefault = yes\n',
  );
  const stops: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await rm(folder, { recursive: true, force: true });
  });
  const start = async (kind: string, port: number, lines: readonly string[]): Promise<void> => {
    const path = join(folder, `${kind}-server.conf`);
    const common = [
      '[DEFAULT]',
      'bind_ip = 127.0.0.1',
      `bind_port = ${port}`,
      'workers = 0',
      `user = ${process.getuid?.() === 0 ? 'root' : (process.env['USER'] ?? '')}`,
      `swift_dir = ${folder}`,
      `devices = ${devices}`,
      'mount_check = false',
      'disable_fallocate = true',
    ];
    await writeFile(path, [...common, ...lines, ''].join('\n'));
    const program = debianProgram(`/usr/bin/swift-${kind}-server`, `swift-${kind}`);
    const { stop } = await startProgram(program, [path], () => isListening(port));
    stops.push(stop);
  };
  const ports = await Promise.all(kinds.map(() => freePort()));
  const rings = kinds.map((kind, at) => [join(folder, `${kind}.ring.gz`), String(ports[at])]);
  await promisify(execFile)('/usr/bin/python3', ['-c', makeRings, ...rings.flat()]);
  await Promise.all(
    kinds.map((kind, at) =>
      start(kind, ports[at] ?? 0, [
        '[pipeline:main]',
        `pipeline = ${kind}-server`,
        `[app:${kind}-server]`,
        `use = egg:swift#${kind}`,
      ]),
    ),
  );
  const settings = {
    catch_errors: [],
    // Asked for, and not needed: nobody listens there.
    memcache: ['memcache_servers = 127.0.0.1:1'],
    listing_formats: [],
    s3api: ['location = us-east-1'],
    tempauth: [`user_test_tester = ${access.secretAccessKey} .admin`],
    copy: [],
    slo: [],
  };
  const port = await freePort();
  await start('proxy', port, [
    '[pipeline:main]',
    `pipeline = ${Object.keys(settings).join(' ')} proxy-server`,
    '[app:proxy-server]',
    'use = egg:swift#proxy',
    'account_autocreate = true',
    ...Object.entries(settings).flatMap(([filter, lines]) => [
      `[filter:${filter}]`,
      `use = egg:swift#${filter}`,
      ...lines,
    ]),
  ]);
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: access,
  });
  onTestFinished(() => client.destroy());
  await client.send(new CreateBucketCommand({ Bucket: 'lists' }));
  return {
    client,
    env: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: access.accessKeyId,
      AWS_SECRET_ACCESS_KEY: access.secretAccessKey,
      AWS_REGION: 'us-east-1',
    },
  };
}
