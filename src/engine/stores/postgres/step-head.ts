interface StepHead {
  /** Parameters besides those of every step. */
  readonly takes: string;
  /** Variables besides `v_refused`. */
  readonly declares?: string;
  /** Others write nothing of the run until the transaction ends. @default false */
  readonly locksRun?: boolean;
  /** A crash of the server may undo it. @default false */
  readonly mayBeForgotten?: boolean;
}

/**
 * The first lines of a function that a process calls: with what it knows of the run it names, and nothing
 * is done for whoever may know it wrong. `end $$;` ends the function.
 */
export function stepHead(name: string, head: StepHead): string {
  const { takes, declares = '', locksRun = false, mayBeForgotten = false } = head;
  return `create function {schema}.${name}(
  p_run text, p_life uuid, p_timeline text, p_seen bigint, p_owner uuid, ${takes})
returns json language plpgsql as $$
declare
  v_refused text;
  ${declares}
begin
  perform ${mayBeForgotten ? `set_config('synchronous_commit', 'off', true)` : '{schema}.durably()'};
  v_refused := {schema}.refusal(p_run, p_life, p_timeline, p_seen, ${locksRun});
  if v_refused is not null then
    return json_build_object('refused', v_refused);
  end if;`;
}

/** Parameters of a step under a claim that {@link heldBatch} tests. */
export const claimTakes = 'p_batch text, p_epoch bigint, p_written bigint';

/**
 * Locks the batch, as `v_held`, where the process has the claim. `p_written` is the number of the latest call
 * under the claim that it has had an answer to: where the row has an earlier one, the store was restored.
 */
export const heldBatch = `
  select * into v_held from {schema}.batch
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner
  for update;
  if not found then
    return '{"lost": true}';
  end if;
  if v_held.call < p_written then
    return '{"refused": "restored"}';
  end if;`;
