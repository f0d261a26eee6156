import type { VerificationType } from '../../contract/enums.js';
import { isDate } from './cell-patterns.js';

/** Columns that say who has opted out, and those that say who has opted in, by their names without all but letters. */
const optOutNames =
  /opt(?:ed)?out|unsub|donot(?:e?mail|call|contact|text)|abgemeldet|abbestellt|werbesperre|robinson|desabonn|desinscri|disiscri|descadastrad/;
const optInNames =
  /accepts(?:e?mail|sms|phone)?marketing|opt(?:ed)?in|consent|subscribed$|newsletter|einwilligung|abonniert|marketingcontactstatus/;
/** Columns that tell how a person stands to the owner of the list. */
const statusNames = /status|statut|stato$|estado|subscri|abonn|marketing/;
const phoneNames = /sms|phone|call|text|mobil|whatsapp|telefon/;
const emailNames = /mail|newsletter/;
const yes = /^(?:1|true|yes|y|x|ja|oui|s[iì]|sí|wahr|vrai|vero|verdadero)$/i;
const no = /^(?:0|false|no|n|nein|non|nee|falsch|faux|falso|non-marketing contact)$/i;
const status = /^(?:unsubscribed|opted[ -]?out|abgemeldet|désabonnée?|désinscrite?)$/i;
/** Mailchimp's word for emails that bounced. */
const bounced = /^cleaned$/i;

/**
 * Whether a cell of a column says of its row that nobody may write to it or call it, or that its email bounced.
 *
 * @returns `undefined` for a column that is about addresses of another type
 */
export function optOutOf(
  title: string,
  types: readonly VerificationType[],
): ((cell: string) => boolean) | undefined {
  const letters = lettersOf(title);
  if (!types.some((type) => concerns(letters, type))) return undefined;
  const isOut = optOutNames.test(letters);
  const isIn = !isOut && optInNames.test(letters);
  const mayBounce = types.includes('email') && statusNames.test(letters);
  return (cell) =>
    status.test(cell) ||
    (mayBounce && bounced.test(cell)) ||
    (isOut && (yes.test(cell) || isDate(cell))) ||
    (isIn && no.test(cell));
}

/** Whether a column's name is that of one which says who has opted out or in: of others, single cells may. */
export function isNamedOptOut(title: string): boolean {
  const letters = lettersOf(title);
  return [optOutNames, optInNames, statusNames].some((names) => names.test(letters));
}

function lettersOf(title: string): string {
  return title
    .normalize('NFD')
    .replaceAll(/[^\p{L}]/gu, '')
    .toLowerCase();
}

/** Marketing is by email unless a name says otherwise; a name that says nothing is about both types. */
function concerns(letters: string, type: VerificationType): boolean {
  const phones = phoneNames.test(letters);
  const emails = emailNames.test(letters) || (!phones && letters.includes('marketing'));
  return phones === emails || (type === 'phone' ? phones : emails);
}
