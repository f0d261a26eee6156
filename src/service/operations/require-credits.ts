import type { VerificationType } from '../../contract/enums.js';
import { HttpProblem } from '../http/http-problem.js';
import type { ServiceContext } from '../service-context.js';

/**
 * "A balance that is too small for the launch is answered with 402" (spec 3, rule 5). What a
 * launch needs is its cost before refunds. The body is not shown; it has a `message` like the others.
 *
 * @throws HttpProblem 402
 */
export function requireCredits(
  { store }: ServiceContext,
  wanted: { readonly account: string; readonly type: VerificationType; readonly credits: number },
): void {
  const { account, type, credits } = wanted;
  const available = store.state.balance(account, type);
  if (available >= credits) return;
  throw new HttpProblem(402, 'Payment Required', {
    body: { type, required_credits: credits, available_credits: available },
  });
}
