import type { PhoneVerdict } from './engine.js';

/*
 * Country code 999 is not assigned (ITU-T E.164), so that no real number begins with +99900. What
 * follows asks for a verdict, and four to nine more digits make numbers distinct:
 *
 *   +999001…  valid, mobile, active        +999005…  valid, mobile, inactive
 *   +999002…  wrong                        +999006…  valid, fixed line, active
 *   +999003…  unknown                      +999007…  valid, VoIP, active
 *   +999004…  valid, mobile, ported        +999008…  valid, toll-free, active
 */

const network = { current_network_mcc: '999', current_network_mnc: '99', operator: 'Sluice Test' };
const noNetwork = { current_network_mcc: null, current_network_mnc: null, operator: null };

const active: PhoneVerdict = {
  valid: true,
  wrong: false,
  unknown: false,
  type: 'mobile',
  status: 'active',
  is_syntax_error: false,
  is_ported: false,
  ...network,
};

const verdicts: ReadonlyMap<string, PhoneVerdict> = new Map<string, PhoneVerdict>([
  ['1', active],
  ['2', { ...active, ...noNetwork, valid: false, wrong: true, type: 'unknown', status: 'invalid' }],
  ['3', { ...active, ...noNetwork, valid: false, unknown: true, status: 'unknown' }],
  ['4', { ...active, is_ported: true, operator: 'Sluice Test Two' }],
  ['5', { ...active, status: 'inactive' }],
  ['6', { ...active, type: 'fixed_line' }],
  ['7', { ...active, type: 'voip' }],
  ['8', { ...active, type: 'toll_free' }],
]);

const form = /^\+99900([1-8])\d{4,9}$/;

/** The verdict that a test number asks for; `undefined` when it is none. */
export function judgeTestNumber(phone: string): PhoneVerdict | undefined {
  const asked = form.exec(phone)?.[1];
  return asked === undefined ? undefined : verdicts.get(asked);
}
