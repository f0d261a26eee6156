// A function of your own, as in an application. It is given its client, so that a test can give it
// another.
import { verifyRows, type Client } from 'sluice';

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** Who can be written to: the people whose address is valid. */
export async function whoToWriteTo(client: Client, people: Iterable<Person>): Promise<string[]> {
  const options = { client, email: ['email'], country: 'US', pollIntervalMs: 10 } as const;
  const names: string[] = [];
  for await (const person of verifyRows(people, options)) {
    if (person.email_valid === true) names.push(person.name);
  }
  return names;
}
