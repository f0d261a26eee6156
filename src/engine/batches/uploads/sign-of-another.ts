import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { countryCodes } from '../../../contract/countries.js';
import { verificationTypes } from '../../../contract/enums.js';
import { parseBatchName, type Batch, uuidKey } from '../batch.js';
import { findPreparedCounts } from '../charge.js';

/** What an answer says of an upload that is not true of the one that it should be about. */
export type SignOfAnother = 'uuid' | 'name' | 'group' | 'lines';

/** Fields that an answer may have beside its status: none of them is shown (spec 2.5, 2.9). */
const answerShape = z.looseObject({
  batch_uuid: z.string().optional().catch(undefined),
  name: z.string().optional().catch(undefined),
  type: z.enum(verificationTypes).optional().catch(undefined),
  target_country: z.enum(countryCodes).optional().catch(undefined),
});
const withParameters = z.looseObject({ parameters: answerShape.optional().catch(undefined) });

/** A service may take the end of the file for one more line. */
const mostLinesMore = 1;

/**
 * Looks for a sign that an answer about an upload is about another one: what the answer does not say is
 * no sign. Only the list of batches settles whose a uuid is.
 */
export function signOfAnother(
  answer: { readonly status: string },
  {
    uuid,
    name,
    runId,
    batch,
  }: {
    readonly uuid: string;
    readonly name: string;
    readonly runId: string;
    readonly batch: Batch;
  },
): SignOfAnother | undefined {
  const own = answerShape.parse(answer);
  const { type, country } = batch.group;
  if (uuidKey(own.batch_uuid ?? uuid) !== uuidKey(uuid)) return 'uuid';
  // What names begin with may change from one process of a run to the next.
  const [answered, sent] = [own.name ?? name, name].map((one) => parseBatchName(one, runId));
  if (!isDeepStrictEqual(answered, sent)) return 'name';
  const isOfGroup = [own, withParameters.parse(answer).parameters ?? {}].every(
    (group) => (group.type ?? type) === type && (group.target_country ?? country) === country,
  );
  if (!isOfGroup) return 'group';
  return answer.status === 'ready_for_verification' && countsOthers(answer, batch)
    ? 'lines'
    : undefined;
}

/** Whether the service has parsed other lines than those of the batch. */
function countsOthers(answer: object, { group, addresses }: Batch): boolean {
  const countOf = (type: typeof group.type): number => {
    const { valid, wrong, duplicate } = { ...noLines, ...findPreparedCounts(type, answer) };
    return valid + wrong + duplicate;
  };
  const lines = countOf(group.type);
  if (lines === 0) return countOf(group.type === 'email' ? 'phone' : 'email') > 0;
  return lines < addresses || lines > addresses + mostLinesMore;
}

const noLines = { valid: 0, wrong: 0, duplicate: 0 };
