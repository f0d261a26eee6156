/** The form of a text: letters and digits are dots. */
export function maskedText(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}\p{M}\p{So}]/gu, '•');
}
