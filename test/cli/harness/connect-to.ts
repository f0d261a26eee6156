/** The environment that sends the command to a service. */
export function connectTo(service: {
  readonly baseUrl: string;
  readonly apiKey: string;
}): Record<string, string> {
  return { SLUICE_BASE_URL: service.baseUrl, SLUICE_API_KEY: service.apiKey };
}

/** A command called in a folder, for a service. */
export function inFolder(cwd: string, service: Parameters<typeof connectTo>[0]) {
  return { cwd, env: connectTo(service) };
}
