import { ok } from '../http/reply.js';
import type { Handler } from './operation.js';

/** Account credit balance (spec 2.1). */
export const credits: Handler = async ({ account }, { store }) =>
  ok({
    email_credit: store.state.balance(account, 'email'),
    phone_credit: store.state.balance(account, 'phone'),
  });
