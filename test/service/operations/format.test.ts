import { describe, expect, it } from 'vitest';
import { withService } from '../with-service.js';
import { multipart, type Wire } from '../wire.js';

async function format(wire: Wire, fields: Record<string, string>, content: string) {
  return wire.send('POST', '/v1/format', {
    ...multipart(fields, Buffer.from(content)),
    key: null,
  });
}

describe('normalizing formats', () => {
  it('writes phones in E.164, and needs no key', async () => {
    const { wire } = await withService();
    const fields = { type: 'phone', target_country: 'DE' };
    const answer = await format(wire, fields, '030 123456\n+1 (202) 555-0143\nkeine Angabe\n');
    expect([answer.status, answer.json]).toEqual([
      200,
      {
        status: 'ok',
        type: 'phone',
        target_country: 'DE',
        results: [
          { input: '030 123456', formatted: '+4930123456' },
          { input: '+1 (202) 555-0143', formatted: '+12025550143' },
          { input: 'keine Angabe', formatted: null },
        ],
        formatted: 2,
        failed: 1,
      },
    ]);
  });

  it('writes emails with their domain in lower case, and leaves local parts alone', async () => {
    const { wire } = await withService();
    const fields = { type: 'email', target_country: 'US' };
    const answer = await format(wire, fields, ' Ana.Ruiz@FjordWool.COM \nana@@x.com\n');
    expect(answer.json.results).toEqual([
      { input: 'Ana.Ruiz@FjordWool.COM', formatted: 'Ana.Ruiz@fjordwool.com' },
      { input: 'ana@@x.com', formatted: null },
    ]);
  });

  it('refuses fields and files as the upload does', async () => {
    const { wire } = await withService();
    expect((await format(wire, { type: 'email' }, 'a')).status).toBe(422);
    const comma = await format(wire, { type: 'email', target_country: 'US' }, 'a,b');
    expect(comma.json.status).toBe('parse_error');
    expect((await format(wire, { type: 'email', target_country: 'US' }, '')).json.results).toEqual(
      [],
    );
  });
});
