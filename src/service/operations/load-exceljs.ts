import type exceljs from 'exceljs';
import { badRequest } from '../http/http-problem.js';

/**
 * Loads the package that writes spreadsheets when the first one is asked for; it is no dependency of
 * its own, because few need it.
 *
 * @throws HttpProblem 400, which says how to install it
 */
export async function loadExceljs(
  load: () => Promise<{ readonly default: typeof exceljs }> = async () => import('exceljs'),
): Promise<typeof exceljs> {
  try {
    return (await load()).default;
  } catch (cause) {
    if (!isMissing(cause)) throw cause;
    throw badRequest(
      'spreadsheets need the package exceljs, which is not installed: put ' +
        '"overrides": {"traverse": "0.3.9"} into package.json and run npm install exceljs@4.4.0; ' +
        'or ask for format=json',
    );
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
}
