import * as z from 'zod';
import type { FailedReason, KnownBatch, Stage } from '../batches/batch-state.js';

/** What the journal holds of each stage: the compiler says when a stage or a field is forgotten. */
type Shapes = {
  readonly [S in Stage]: {
    readonly [
      Field in Exclude<keyof Extract<KnownBatch, { readonly stage: S }>, 'stage'>
    ]-?: z.ZodType;
  };
};

const count = z.int().min(0);
const uuid = z.string().min(1);
const tries = { attempt: z.int().min(1), fresh: count, uploads: count };
const elected = {
  ...tries,
  uuid,
  isFound: z.boolean(),
  misses: count,
  prepares: count,
  launches: count,
  doubt: z.boolean(),
};

const reasons: Readonly<Record<FailedReason, true>> = {
  parse_error: true,
  upload_error: true,
  prepare_error: true,
  launch_error: true,
  internal_error: true,
  batch_missing: true,
  too_large: true,
  export_incomplete: true,
  export_foreign: true,
};

const shapes: Shapes = {
  planned: tries,
  uploading: { ...tries, accepted: z.boolean(), looks: count },
  uploaded: elected,
  parsing: { ...elected, prepared: z.boolean(), polls: count },
  ready: elected,
  launching: { ...elected, saidError: z.boolean() },
  verifying: { ...elected, readies: count },
  // Journals of earlier versions do not count doubts.
  done: { ...elected, broken: count, doubts: count.optional() },
  exported: elected,
  split: { ...tries, uuid: uuid.optional() },
  failed: {
    ...tries,
    reason: z.enum(Object.keys(reasons)),
    uuid: uuid.optional(),
    launched: z.boolean(),
  },
};

const ofStage = new Map(
  Object.entries(shapes).map(([stage, shape]) => [stage, z.object(shape)] as const),
);
const staged = z.object({ stage: z.string() });

/** What is known of a batch, as it comes back from the journal. */
export const knownBatch = z.custom<KnownBatch>((value) => {
  const { data } = staged.safeParse(value);
  return data !== undefined && ofStage.get(data.stage)?.safeParse(value).success === true;
});
