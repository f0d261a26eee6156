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
