/** So many answers are kept; lists name few domains, and junk in one must not fill the memory. */
const mostKept = 8192;

/** The same function, asked once for each text as long as there is room for its answers. */
export function remember<Answer>(answer: (text: string) => Answer): (text: string) => Answer {
  const known = new Map<string, Answer>();
  return (text) => {
    const kept = known.get(text);
    if (kept !== undefined || known.has(text)) return kept as Answer;
    const found = answer(text);
    if (known.size >= mostKept) known.clear();
    known.set(text, found);
    return found;
  };
}
