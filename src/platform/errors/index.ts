// Errors alone (`sluice/errors`): without Node, so that a web page can distinguish them, too.
export {
  ApiError,
  BudgetError,
  ConfigurationError,
  ContractError,
  DeadlineError,
  DetachedError,
  InputError,
  type ErrorFault,
  type ErrorPlace,
  OutputError,
  StateError,
  TransportError,
} from './errors.js';
export { isSluiceError } from './is-sluice-error.js';
export { SluiceError, type ErrorCodes, type SluiceErrorCode } from './sluice-error.js';
