const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

type StopSignal = keyof typeof exitCodes;

/** The reason of an abort that a person or a supervisor asked for. */
export class Interruption extends Error {
  readonly exitCode: number;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.name = 'Interruption';
    this.exitCode = exitCodes[signal];
  }
}

/**
 * Aborts when the process is asked to stop. Asked a second time, the process ends at once: what is
 * written down by then is what the next run goes on from.
 */
export function abortOnSignals(own: NodeJS.Process): AbortSignal {
  const controller = new AbortController();
  for (const signal of Object.keys(exitCodes) as StopSignal[]) {
    own.on(signal, () => {
      const interruption = new Interruption(signal);
      if (controller.signal.aborted) own.exit(interruption.exitCode);
      controller.abort(interruption);
    });
  }
  return controller.signal;
}
