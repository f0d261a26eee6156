/** Takes Unicode white space and byte-order marks from both ends. */
export function trimCell(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isTrimmed(text.charCodeAt(start))) start += 1;
  while (start < end && isTrimmed(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** What `String.prototype.trim` takes, and NEL, which is white space in Unicode and not in JavaScript. */
function isTrimmed(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code < 0x1680) return code === 0x85 || code === 0xa0;
  return (
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000 ||
    code === 0xfeff
  );
}
