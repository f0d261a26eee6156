import type { PhoneVerdict } from '../../engine/engine.js';
import type { NameNetwork } from './operators.js';
import type { PhoneFacts } from './phone-lookup.js';

/** Adds what a network says to what the numbering plan does. */
export function phoneVerdict(
  planned: PhoneVerdict,
  facts: PhoneFacts,
  nameNetwork: NameNetwork,
): PhoneVerdict {
  const { status, isPorted, mcc, mnc, operator } = facts;
  const network = mcc !== undefined && mnc !== undefined ? nameNetwork(mcc, mnc) : undefined;
  // The plan has the range open, and nobody has the number.
  const isWrong = status === 'invalid';
  return {
    ...planned,
    valid: !isWrong,
    wrong: isWrong,
    status: status ?? planned.status,
    is_ported: isPorted ?? planned.is_ported,
    current_network_mcc: network?.mcc ?? mcc ?? null,
    current_network_mnc: network?.mnc ?? null,
    operator: operator ?? network?.operator ?? null,
  };
}
