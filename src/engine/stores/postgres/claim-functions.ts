import { claimTakes, heldBatch, stepHead } from './step-head.js';

/**
 * What a process asks of one batch. Its token is tested where the row is locked: whoever has the batch by
 * now keeps it to itself until the transaction ends.
 */
export const claimFunctions = `
${stepHead('claim', {
  takes: 'p_lease_ms bigint, p_batches text[], p_types text[], p_addresses bigint[]',
  declares: 'v_proven boolean; v_batch text; v_epoch bigint; v_losses int;',
})}
  -- A source is copied before the run is begun.
  if not {schema}.is_open(p_run) and (
    p_batches <> '{copy}' or exists (select from {schema}.journal where run = p_run)) then
    return json_build_object('proven', false, 'updates', {schema}.updates(p_run, p_seen));
  end if;
  insert into {schema}.batch (run, batch, type, addresses)
  select p_run, w.batch, w.type, w.addresses
  from unnest(p_batches, p_types, p_addresses) as w(batch, type, addresses)
  where not exists (select from {schema}.batch b where b.run = p_run and b.batch = w.batch)
  order by w.batch
  on conflict do nothing;
  select proven into v_proven from {schema}.run where run = p_run;
  -- Whoever asks for a batch that is its own has not heard the answer that gave it.
  select b.batch into v_batch
  from unnest(p_batches) with ordinality as w(batch, place)
  join {schema}.batch b on b.run = p_run and b.batch = w.batch
  where not b.ended
    and (b.owner is null or b.owner = p_owner or b.lease_until <= clock_timestamp())
    and (v_proven or w.batch = 'output' or (
      w.place = (
        select min(f.place)
        from unnest(p_batches) with ordinality as f(batch, place)
        join {schema}.batch o on o.run = p_run and o.batch = f.batch
        where not o.ended)
      and not exists (
        select from {schema}.batch o
        where o.run = p_run and o.batch <> 'output' and not o.ended
          -- A part may go ahead of its batch.
          and split_part(o.batch, '.', 1) <> split_part(b.batch, '.', 1)
          and o.owner is not null and o.lease_until > clock_timestamp())))
  order by w.place
  limit 1
  for update of b skip locked;
  -- Whoever has lost its claim lived until a lease before its end.
  update {schema}.batch
  set owner = null, losses = losses + 1
  where run = p_run and batch = v_batch and batch <> 'output'
    and owner <> p_owner and lease_until <= claimed_at + p_lease_ms * interval '1 ms' + interval '1 minute';
  select losses into v_losses from {schema}.batch where run = p_run and batch = v_batch;
  if v_losses >= 5 then
    return json_build_object(
      'breaking', v_batch, 'proven', v_proven, 'updates', {schema}.updates(p_run, p_seen));
  end if;
  if v_batch is not null then
    update {schema}.batch
    set epoch = epoch + 1, owner = p_owner, call = 0, claimed_at = clock_timestamp(),
      lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
    where run = p_run and batch = v_batch
    returning epoch into v_epoch;
  end if;
  return json_build_object(
    'batch', v_batch, 'epoch', v_epoch, 'proven', v_proven, 'server', {schema}.server(),
    'updates', {schema}.updates(p_run, p_seen));
end $$;

${stepHead('record', {
  takes: `${claimTakes}, p_call bigint, p_entry json, p_ended boolean, p_paid boolean, p_proven boolean`,
  declares: 'v_held {schema}.batch; v_reserved bigint;',
  locksRun: true,
})}
  ${heldBatch}
  -- One that was on its way while its repetition, and what came after it, were written down is too late.
  if v_held.call > p_call then
    return '{"lost": true}';
  end if;
  if v_held.call = p_call then
    return '{}';
  end if;
  insert into {schema}.journal (run, batch, epoch, owner, call, entry)
  values (p_run, p_batch, p_epoch, p_owner, p_call, p_entry);
  v_reserved := case when p_paid then v_held.addresses else 0 end;
  update {schema}.batch set call = p_call, ended = p_ended, reserved = v_reserved
  where run = p_run and batch = p_batch;
  if p_batch <> 'output' then
    -- A batch that is sent again makes the run unfinished.
    update {schema}.batch set ended = false where run = p_run and batch = 'output' and ended;
  end if;
  if v_reserved <> v_held.reserved then
    insert into {schema}.budget (run, type, reserved)
    values (p_run, v_held.type, v_reserved - v_held.reserved)
    on conflict (run, type) do update
    set reserved = {schema}.budget.reserved + v_reserved - v_held.reserved;
  end if;
  if p_proven then
    update {schema}.run set proven = true where run = p_run and not proven;
  end if;
  return '{}';
end $$;

-- A record without updates: it is written as one, so that a server that others have taken the place of
-- cannot say yes.
${stepHead('confirm', { takes: `${claimTakes}, p_lease_ms bigint`, declares: 'v_call bigint;' })}
  update {schema}.batch set lease_until = clock_timestamp() + p_lease_ms * interval '1 ms'
  where run = p_run and batch = p_batch and epoch = p_epoch and owner = p_owner
  returning call into v_call;
  if v_call < p_written then
    return '{"refused": "restored"}';
  end if;
  return json_build_object('lost', v_call is null);
end $$;

${stepHead('reserve', {
  takes: claimTakes,
  declares: 'v_held {schema}.batch; v_most numeric; v_credits bigint;',
})}
  ${heldBatch}
  if v_held.reserved > 0 then
    select reserved into v_credits from {schema}.budget where run = p_run and type = v_held.type;
    return json_build_object('isGranted', true, 'credits', v_credits);
  end if;
  insert into {schema}.budget (run, type) values (p_run, v_held.type) on conflict do nothing;
  select most into v_most from {schema}.run where run = p_run;
  update {schema}.budget set reserved = reserved + v_held.addresses
  where run = p_run and type = v_held.type
    and (v_most is null or reserved + v_held.addresses <= v_most)
  returning reserved into v_credits;
  if not found then
    return (
      select json_build_object(
        'isGranted', false, 'credits', reserved + v_held.addresses, 'most', v_most)
      from {schema}.budget where run = p_run and type = v_held.type);
  end if;
  update {schema}.batch set reserved = addresses where run = p_run and batch = p_batch;
  return json_build_object('isGranted', true, 'credits', v_credits);
end $$;

-- Each block has a number of its own: one that was on its way while its repetition, and what came after it,
-- were written is too late. The last takes the place of all others that were kept before. Nothing is kept
-- of a batch that has ended: its results count.
${stepHead('keep_results', {
  takes: `${claimTakes}, p_call bigint, p_part int, p_is_last boolean, p_bytes bytea`,
  declares: 'v_held {schema}.batch;',
})}
  ${heldBatch}
  if v_held.ended or v_held.call > p_call then
    return '{"lost": true}';
  end if;
  update {schema}.batch set call = p_call where run = p_run and batch = p_batch;
  insert into {schema}.results (run, batch, part, bytes) values (p_run, p_batch, p_part, p_bytes)
  on conflict (run, batch, part) do update set bytes = excluded.bytes;
  if p_is_last then
    delete from {schema}.results where run = p_run and batch = p_batch and part > p_part;
  end if;
  return '{}';
end $$;
`;
