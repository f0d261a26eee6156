import { claimTakes, stepHead } from './step-head.js';

/** What a process asks of the copy of a run's source. */
export const copyFunctions = `
-- A part that is written again is the same: who has the claim reads the source once.
${stepHead('keep_copy', {
  takes: `${claimTakes}, p_part int, p_checksum bigint, p_bytes bytea`,
})}
  perform from {schema}.batch
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner and not ended
  for update;
  if not found then
    return '{"lost": true}';
  end if;
  insert into {schema}.copy (run, part, checksum, bytes) values (p_run, p_part, p_checksum, p_bytes)
  on conflict (run, part) do update set checksum = excluded.checksum, bytes = excluded.bytes;
  return '{}';
end $$;

-- From now on it is whole. What a copier that died has left behind its end goes.
${stepHead('end_copy', {
  takes: `${claimTakes}, p_parts int, p_of text`,
  locksRun: true,
})}
  update {schema}.batch set ended = true
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner;
  if not found then
    return '{"lost": true}';
  end if;
  delete from {schema}.copy where run = p_run and part >= p_parts;
  update {schema}.run set copied = p_parts, copied_of = p_of where run = p_run;
  return '{}';
end $$;
`;

/**
 * What the processes of an account share, whichever runs they work on. It need not outlast a crash: a
 * server that starts again takes longer than what it may have forgotten.
 */
export const paceFunctions = `
-- Of the rates that processes were given the lowest counts, for as long as they give signs of life.
create function {schema}.pace_of(p_account text) returns json language sql as $$
  select json_build_object(
    'intervalMs', (
      select coalesce(max(interval_ms), 0) from {schema}.pacing
      where account = p_account and beat_at > clock_timestamp() - interval '1 minute'),
    'pausedMs', greatest(0, extract(epoch from paused_until - clock_timestamp()) * 1000))
  from {schema}.pace where account = p_account
$$;

create function {schema}.join_pace(
  p_run text, p_owner uuid, p_account text, p_interval_ms float8)
returns json language plpgsql as $$
begin
  insert into {schema}.pace (account) values (p_account) on conflict do nothing;
  insert into {schema}.pacing (worker, run, account, interval_ms)
  values (p_owner, p_run, p_account, p_interval_ms)
  on conflict (worker) do update
  set account = p_account, interval_ms = p_interval_ms, beat_at = clock_timestamp();
  return {schema}.pace_of(p_account);
end $$;

-- The next moment at which one of them may send a request: each is given once.
create function {schema}.take_slot(p_account text) returns json language plpgsql as $$
declare
  v_interval interval;
  v_slot timestamptz;
begin
  perform set_config('synchronous_commit', 'off', true);
  v_interval := ({schema}.pace_of(p_account) ->> 'intervalMs')::float8 * interval '1 ms';
  update {schema}.pace
  set next_at = greatest(next_at, paused_until, clock_timestamp()) + v_interval
  where account = p_account
  returning next_at - v_interval into v_slot;
  return json_build_object(
    'waitMs', greatest(0, extract(epoch from v_slot - clock_timestamp()) * 1000));
end $$;

create function {schema}.pause(p_account text, p_ms float8) returns json language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update {schema}.pace
  set paused_until = greatest(paused_until, clock_timestamp() + p_ms * interval '1 ms')
  where account = p_account;
  return '{}';
end $$;
`;
