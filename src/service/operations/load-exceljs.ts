import type exceljs from 'exceljs';
import { isSluiceError } from '../../errors/sluice-error.js';
import { loadPackage } from '../../system/load-package.js';
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
    return (await loadPackage(load, { by: 'a spreadsheet', install: 'exceljs@4.4.0' })).default;
  } catch (error) {
    if (!isSluiceError(error, 'missing_dependency')) throw error;
    throw badRequest(
      `${error.message}, once "overrides": {"traverse": "0.3.9"} is in package.json; or ask for format=json`,
    );
  }
}
