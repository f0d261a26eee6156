/** How much may be added to what lives in the heap, in percent of it, before V8 marks all of it again. */
const growingPercent = 200;

/**
 * Has V8 mark the heap less often. Some fifteen megabytes live there, and whatever is read or received counts
 * as growth until it is collected: left alone, V8 marks the heap five times a second, which is up to a fifth of
 * the processor time of a run, most of it in other threads.
 *
 * To be called when all is loaded that a run needs: V8 refuses Node's compiled code, and what was kept of
 * this command's, while an option has another value than it had when they were made.
 */
export function collectSeldom(): void {
  letHeapGrow(growingPercent);
}

/** Undoes that: what is kept of the compiled code then suits the next start. */
export function collectAsUsual(): void {
  letHeapGrow(0);
}

function letHeapGrow(percent: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${percent}`);
}
