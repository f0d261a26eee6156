/** The URL of another user of the same server. */
export function urlOf(user: string, url: string): string {
  return Object.assign(new URL(url), { username: user, password: 'geheim' }).href;
}
