import { notSubmittedReasons } from '../addresses/address.js';
import { emailQualities, emailResults, type VerificationType } from '../../contract/enums.js';
import { recordFields } from '../../contract/records.js';
import type { AddedColumn, OutputCell } from '../../lists/rows/sink.js';
import { fieldPlace, outcomeCells } from './added-fields.js';
import type { Outcome, OutcomeValue } from '../results/outcome-table.js';

/** Outcomes with each form of output. */
function sampleOutcomes(type: VerificationType): readonly Outcome[] {
  const without = { values: undefined, type: undefined };
  const origin = { source: 'service', batchUuid: sampleUuid, verifiedAt: sampleTime } as const;
  const failures = ['internal_error', 'export_incomplete', 'not_finished'];
  return [
    ...notSubmittedReasons.map((reason) => ({ ...without, verification: 'not_submitted', reason })),
    { ...without, verification: 'no_result', reason: 'no_record', origin },
    ...failures.map((reason) => ({ ...without, verification: 'failed', reason, origin })),
    ...[0, 1, 2, 3].map((at) => ({
      verification: 'verified',
      reason: '',
      type,
      values: recordFields[type].map((field) => sampleValue(field, at)),
      origin: { ...origin, source: at === 0 ? ('history' as const) : origin.source },
    })),
  ] as readonly Outcome[];
}

const sampleUuid = '00000000-0000-4000-8000-000000000000';
const sampleTime = '2026-01-01T00:00:00.000Z';
/** Texts as long as the service's; a field that is not listed has a usual one. */
const sampleTexts = new Map<string, readonly (string | null)[]>([
  ['quality', emailQualities],
  ['result', emailResults],
  ['type', ['mobile', 'landline', 'voip', 'toll_free']],
  ['status', ['active', 'inactive', 'ok', 'unknown']],
  ['current_network_mcc', ['262', null]],
  ['current_network_mnc', ['01', null]],
  ['operator', ['Deutsche Telekom', null]],
]);

function sampleValue(field: string, at: number): OutcomeValue {
  const texts = sampleTexts.get(field);
  return texts ? (texts[at % texts.length] ?? null) : at % 2 === 0;
}

export function sampleCells(
  type: VerificationType,
  added: readonly AddedColumn[],
): readonly (readonly OutputCell[])[] {
  return sampleOutcomes(type).map((outcome) => {
    const cells = outcomeCells(outcome, type);
    const isSent = outcome.verification !== 'not_submitted';
    return added.map(({ field }) => {
      if (field === 'submitted') return isSent ? sampleLines[type] : null;
      if (field === 'suggestion') return 'gmail.com';
      return cells[fieldPlace(type, field)] ?? null;
    });
  });
}

const sampleLines = { email: 'someone@example.com', phone: '+14155550100' } as const;
