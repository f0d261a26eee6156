/** The command as it is built and shipped: this module is compiled into `.cache/<name>/benchmarks/harness`. */
export const sluiceCommand = new URL('../../../../dist/cli/main.js', import.meta.url).href;
