// A pipeline of your own, as in an application. It is given its client, so that a test can give it
// another.
import { Readable } from 'node:stream';
import { verify, type Client, type Row } from 'sluice';

/** Who can be written to: the people whose address is valid. */
export async function whoToWriteTo(client: Client, people: Iterable<Row>): Promise<string[]> {
  const verified = Readable.from(people).pipe(
    verify({ client, email: ['email'], country: 'US', pollIntervalMs: 10 }),
  );
  const names: string[] = [];
  for await (const row of verified as AsyncIterable<Row>) {
    if (row['email_valid'] === true) names.push(String(row['name']));
  }
  return names;
}
