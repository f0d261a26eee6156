let names = 0;

/** A name that nothing else on the tests' servers has. */
export function newName(): string {
  names += 1;
  return `t_${process.pid}_${names}`;
}

/** The URL of another user of the same server. */
export function urlOf(user: string, url: string): string {
  return Object.assign(new URL(url), { username: user, password: 'geheim' }).href;
}
