import { createRequire } from 'node:module';
import type * as Library from 'libphonenumber-js/min';
import type metadata from 'libphonenumber-js/min/metadata';

const require = createRequire(import.meta.url);
let library: typeof Library | undefined;
let plans: typeof metadata | undefined;

/**
 * libphonenumber-js, loaded with the first phone number that is looked at: its hundred files are a good
 * part of the time that the command takes to start, and a list of emails needs none of them.
 */
export function phoneLibrary(): typeof Library {
  // Its own types are those of what is loaded.
  library ??= require('libphonenumber-js/min') as typeof Library;
  return library;
}

/** The numbering plans of libphonenumber-js. */
export function phoneMetadata(): typeof metadata {
  plans ??= require('libphonenumber-js/min/metadata') as typeof metadata;
  return plans;
}
