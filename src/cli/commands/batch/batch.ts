import { ConfigurationError } from '../../../index.js';
import { defineCommand, type Command } from '../../command.js';
import { deleteCommand } from './delete.js';
import { detailsCommand, statusCommand } from './show.js';
import { exportCommand } from './export.js';
import { launchCommand } from './launch.js';
import { listCommand } from './list.js';
import { prepareCommand } from './prepare.js';
import { updateCommand } from './update.js';
import { uploadCommand } from './upload.js';

const subcommands: readonly Command[] = [
  listCommand,
  uploadCommand,
  statusCommand,
  detailsCommand,
  updateCommand,
  prepareCommand,
  launchCommand,
  exportCommand,
  deleteCommand,
];

export const batchCommand = defineCommand({
  name: 'batch',
  usage: '<what> [options]',
  summary: 'Work with single batches on the service, by hand.',
  options: [],
  subcommands,
  examples: [
    'sluice batch upload emails.txt --type email --country US',
    'sluice batch list --limit 10',
  ],
  run: async () => {
    const names = subcommands.map(({ name }) => name.split(' ').at(-1));
    throw new ConfigurationError(`say what to do with a batch: ${names.join(', ')}`);
  },
});
