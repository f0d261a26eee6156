/** The digest of a reading's content, which stands when its last row was read. */
export function digestAtEnd(digest: string | undefined): string {
  if (digest !== undefined) return digest;
  throw new Error('the content is not known before its end was read');
}
