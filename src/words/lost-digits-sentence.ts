/** What to do about cells that a spreadsheet has written as `4.91702E+11`. */
export function lostDigitsSentence(cells: number): string {
  const are = cells === 1 ? '1 cell is' : `${cells} cells are`;
  return `phone: ${are} in scientific notation, and the last digits are lost: format the column as text or as a number without decimals, export the list again, and run again`;
}
