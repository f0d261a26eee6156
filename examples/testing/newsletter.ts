// A pipeline of your own, as in an application. It is given its client, so that a test can give it
// another.
import { Readable } from 'node:stream';
import { verify, type Client } from 'sluice';

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** Who can be written to: the people whose address is valid. */
export async function whoToWriteTo(client: Client, people: Iterable<Person>): Promise<string[]> {
  const verified = Readable.from(people).pipe(
    verify<Person>()({ client, email: ['email'], country: 'US', pollIntervalMs: 10 }),
  );
  const names: string[] = [];
  for await (const person of verified) {
    if (person.email_valid === true) names.push(person.name);
  }
  return names;
}
