import { NotReached } from './deviation.js';
import type { Answer } from './exchange.js';
import type { Subject } from './subject.js';

/**
 * Verifies one address, which costs one credit. The fields of the body are not shown: the address goes
 * under the name that records give it, beside its type and country.
 *
 * @throws NotReached when the service wants another body
 */
export async function unitAnswer(subject: Subject): Promise<Answer> {
  const [email] = subject.newAddresses('email', 1);
  const json = { type: 'email', email, target_country: 'US' };
  const answer = await subject.ask('POST', '/v1/unit', { json });
  if (answer.status === 400 || answer.status === 422) {
    throw new NotReached('the body of a unit verification is not shown, and this one was refused');
  }
  return answer;
}
