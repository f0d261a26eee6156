import { createRequire } from 'node:module';
import type * as api from '@opentelemetry/api';
import { ConfigurationError } from '../errors/family.js';

/** What `@opentelemetry/api` exports. */
export type OpenTelemetryApi = typeof api;

/**
 * Loads the package when it is needed. Whatever form of it a program loads, all share the providers that
 * are registered for the process.
 *
 * @throws ConfigurationError `missing_dependency`, which says how to install it
 */
export function loadApi(): OpenTelemetryApi {
  try {
    // A parse would not know more of a package than its types say.
    return createRequire(import.meta.url)('@opentelemetry/api') as OpenTelemetryApi;
  } catch (cause) {
    throw new ConfigurationError(
      'instrument() needs a package that is not installed: npm install @opentelemetry/api',
      { code: 'missing_dependency', cause },
    );
  }
}
