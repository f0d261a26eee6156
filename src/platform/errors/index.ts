// Errors without the rest (`sluice/errors`): nothing of it needs Node, so that a page can tell them apart, too.
export {
  ApiError,
  BudgetError,
  ConfigurationError,
  ContractError,
  DeadlineError,
  DetachedError,
  InputError,
  OutputError,
  StateError,
  TransportError,
} from './errors.js';
export { isSluiceError } from './is-sluice-error.js';
export {
  SluiceError,
  type ErrorCodes,
  type SluiceErrorCode,
  type SluiceErrorOptions,
} from './sluice-error.js';
