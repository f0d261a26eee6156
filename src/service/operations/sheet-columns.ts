import type { VerificationType } from '../../contract/enums.js';
import type { Verdict } from '../verification/engine.js';
import { safeCell } from './safe-cell.js';

interface Column {
  readonly header: string;
  readonly width: number;
}

const emailColumns: readonly Column[] = [
  { header: 'Email', width: 40 },
  { header: 'Verdict', width: 12 },
  { header: 'Quality', width: 12 },
  { header: 'Result', width: 12 },
  { header: 'Syntax error', width: 14 },
  { header: 'Free provider', width: 14 },
  { header: 'Role', width: 10 },
  { header: 'Disposable', width: 12 },
  { header: 'Catch-all', width: 12 },
];

const phoneColumns: readonly Column[] = [
  { header: 'Phone', width: 24 },
  { header: 'Verdict', width: 12 },
  { header: 'Type', width: 22 },
  { header: 'Status', width: 12 },
  { header: 'Syntax error', width: 14 },
  { header: 'Ported', width: 10 },
  { header: 'Network MCC', width: 14 },
  { header: 'Network MNC', width: 14 },
  { header: 'Operator', width: 28 },
];

/** The columns of the sheet of results: the address, and what a record (spec 2.7) says of it. */
export function resultColumns(type: VerificationType): readonly Column[] {
  return type === 'email' ? emailColumns : phoneColumns;
}

/** The cells behind the address, in the order of {@link resultColumns}. */
export function verdictCells(verdict: Verdict): readonly string[] {
  const word = verdict.wrong ? 'wrong' : verdict.unknown ? 'unknown' : 'valid';
  if ('quality' in verdict) {
    return [
      word,
      verdict.quality,
      verdict.result,
      yesNo(verdict.is_syntax_error),
      yesNo(verdict.is_free),
      yesNo(verdict.is_role),
      yesNo(verdict.is_disposable),
      yesNo(verdict.is_catch_all),
    ];
  }
  return [
    word,
    safeCell(verdict.type),
    safeCell(verdict.status),
    yesNo(verdict.is_syntax_error),
    yesNo(verdict.is_ported),
    safeCell(verdict.current_network_mcc ?? ''),
    safeCell(verdict.current_network_mnc ?? ''),
    safeCell(verdict.operator ?? ''),
  ];
}

function yesNo(flag: boolean): string {
  return flag ? 'yes' : 'no';
}
