-- What the processes of an account share, whichever runs they work on. It need not outlast a crash: a
-- server that starts again takes longer than what it may have forgotten.

-- Of the rates that processes were given the lowest counts, for as long as they give signs of life.
create function sluice.pace_of(p_account text) returns json language sql as $$
  select json_build_object(
    'intervalMs', (
      select coalesce(max(interval_ms), 0) from sluice.pacing
      where account = p_account and beat_at > clock_timestamp() - interval '1 minute'),
    'pausedMs', greatest(0, extract(epoch from paused_until - clock_timestamp()) * 1000))
  from sluice.pace where account = p_account
$$;

create function sluice.join_pace(
  p_run text, p_owner uuid, p_account text, p_interval_ms float8)
returns json language plpgsql as $$
begin
  insert into sluice.pace (account) values (p_account) on conflict do nothing;
  insert into sluice.pacing (worker, run, account, interval_ms)
  values (p_owner, p_run, p_account, p_interval_ms)
  on conflict (worker) do update
  set account = p_account, interval_ms = p_interval_ms, beat_at = clock_timestamp();
  return sluice.pace_of(p_account);
end $$;

-- The next moment at which one of them may send a request: each is given once.
create function sluice.take_slot(p_account text) returns json language plpgsql as $$
declare
  v_interval interval;
  v_slot timestamptz;
begin
  perform set_config('synchronous_commit', 'off', true);
  v_interval := (sluice.pace_of(p_account) ->> 'intervalMs')::float8 * interval '1 ms';
  update sluice.pace
  set next_at = greatest(next_at, paused_until, clock_timestamp()) + v_interval
  where account = p_account
  returning next_at - v_interval into v_slot;
  return json_build_object(
    'waitMs', greatest(0, extract(epoch from v_slot - clock_timestamp()) * 1000));
end $$;

create function sluice.pause(p_account text, p_ms float8) returns json language plpgsql as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  update sluice.pace
  set paused_until = greatest(paused_until, clock_timestamp() + p_ms * interval '1 ms')
  where account = p_account;
  return '{}';
end $$;
