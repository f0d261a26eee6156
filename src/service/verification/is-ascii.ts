/** Whether a text is ASCII alone: then its length is its octets, and it has one normal form. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}
