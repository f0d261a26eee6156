// Errors alone (`sluice/errors`): without Node, so that a web page can distinguish them, too.
export {
  BudgetError,
  ConfigurationError,
  DeadlineError,
  DetachedError,
  InputError,
  type ErrorFault,
  type ErrorPlace,
  OutputError,
  StateError,
} from './errors.js';
export { ApiError, ContractError, TransportError } from './service-errors.js';
export { isSluiceError } from './is-sluice-error.js';
export { SluiceError, type ErrorCodes, type SluiceErrorCode } from './sluice-error.js';
