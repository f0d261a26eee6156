/**
 * What two spellings of one uuid have in common: a service may write it in capitals in one answer and
 * not in another. It is asked for as it was first given.
 */
export function uuidKey(uuid: string): string {
  return uuid.toLowerCase();
}
