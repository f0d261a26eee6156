import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { networkEngine } from '../../../src/service/index.js';
import { runInProcess } from '../../cli/harness/run-in-process.js';
import { withFolder, withService } from '../../service/with-service.js';
import { startExim } from './exim.js';
import { startNsd } from './nsd.js';

const zone = `$TTL 60
lab. SOA ns.lab. root.lab. 1 60 60 60 60
lab. NS ns.lab.
ns.lab. A 127.0.0.53
firm.lab. MX 10 mx.lab.
shop.lab. MX 10 mx.lab.
all.lab. MX 10 mx.lab.
other.lab. MX 10 mx.lab.
null.lab. MX 0 .
mx.lab. A 127.0.3.1
`;

const contacts = `name,email
Anna,anna@firm.lab
Bert,bert@firm.lab
Zoe,zoe@firm.lab
Info,info@shop.lab
Anna again,ANNA@firm.lab
Hans,hans@shop.lab
Anyone,anyone@all.lab
Elsewhere,anna@other.lab
None,anna@null.lab
Gone,anna@gone.lab
Broken,no address
`;

describe('a list and a real mail server', () => {
  it('go through sluice verify, by a service that asks', async () => {
    const nsd = await startNsd({ lab: zone });
    onTestFinished(() => nsd.stop());
    const exim = await startExim('127.0.3.1', {
      'firm.lab': ['anna', 'bert', 'postmaster'],
      'shop.lab': ['info', 'postmaster'],
      'all.lab': '*',
    });
    onTestFinished(() => exim.stop());
    const engine = networkEngine({
      heloName: 'verify.sluice-lab.net',
      resolvers: [nsd.resolver],
      allowedRanges: ['127.0.0.0/8'],
      smtpPort: exim.port,
      retryDelaysMs: [50],
    });
    const { service } = await withService({ engine, emailCredits: 100 });
    const cwd = await withFolder();
    await writeFile(join(cwd, 'contacts.csv'), contacts);
    const ended = await runInProcess(
      ['verify', 'contacts.csv', '--email', 'email', '--country', 'US', '-o', 'out.csv', '--quiet'],
      { cwd, env: { SLUICE_BASE_URL: service.baseUrl, SLUICE_API_KEY: service.apiKey } },
    );
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const rows = (await readFile(join(cwd, 'out.csv'), 'utf8')).trim().split('\n');
    expect(rows).toEqual([
      'name,email,email_verification,email_reason,email_valid,email_wrong,email_unknown,email_quality,email_result,email_is_syntax_error,email_is_free,email_is_role,email_is_disposable,email_is_catch_all',
      'Anna,anna@firm.lab,verified,,true,false,false,good,ok,false,false,false,false,false',
      'Bert,bert@firm.lab,verified,,true,false,false,good,ok,false,false,false,false,false',
      'Zoe,zoe@firm.lab,verified,,false,true,false,bad,invalid,false,false,false,false,false',
      'Info,info@shop.lab,verified,,true,false,false,good,ok,false,false,true,false,false',
      'Anna again,ANNA@firm.lab,verified,,true,false,false,good,ok,false,false,false,false,false',
      'Hans,hans@shop.lab,verified,,false,true,false,bad,invalid,false,false,false,false,false',
      'Anyone,anyone@all.lab,verified,,false,false,true,risky,unknown,false,false,false,false,true',
      'Elsewhere,anna@other.lab,verified,,false,false,true,unknown,unknown,false,false,false,false,false',
      'None,anna@null.lab,verified,,false,true,false,bad,invalid,false,false,false,false,false',
      'Gone,anna@gone.lab,verified,,false,true,false,bad,invalid,false,false,false,false,false',
      'Broken,no address,no_result,no_record,,,,,,,,,,',
    ]);
    // Nothing was sent: no message is in its log.
    expect(await exim.log()).not.toMatch(/<= | => /);
  });
});
