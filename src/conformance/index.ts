/*
 * The conformance suite: any service, held to the specification clause by clause. It knows nothing of
 * `src/contract`, so that one misreading of the specification cannot pass twice.
 */

export {
  checkConformance,
  type ConformanceOptions,
  type ConformanceReport,
} from './check-conformance.js';
export { conformanceLine, conformanceSums } from './conformance-table.js';
