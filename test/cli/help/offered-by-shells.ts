import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { debianProgram } from '../../servers/debian-program.js';
import { runInProcess } from '../harness/run-in-process.js';
import { withFolder } from '../../service/with-service.js';

const run = promisify(execFile);

/** A folder with the script for a shell, and a file to complete. */
async function folderWith(shell: string): Promise<{ folder: string; script: string }> {
  const folder = await withFolder();
  const { code, stdout, stderr } = await runInProcess(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const script = join(folder, 'completion');
  await writeFile(script, stdout);
  await writeFile(join(folder, 'a list.csv'), '');
  return { folder, script };
}

/** Asks a shell, as it is installed, what may stand at the end of each line. */
export type Completer = (lines: readonly string[]) => Promise<readonly (readonly string[])[]>;

const wordsOf = (text: string): readonly string[] => text.split('\n').filter((word) => word !== '');

export const bash: Completer = async (lines) => {
  const { folder, script } = await folderWith('bash');
  const asked = lines.map((line) => {
    const words = line.split(' ').map((word) => `'${word}'`);
    return `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _sluice
      printf '%s\\n' "\${COMPREPLY[@]}" END`;
  });
  const text = `source ${script}\n${asked.join('\n')}`;
  const { stdout } = await run('bash', ['--norc', '-c', text], { cwd: folder });
  return stdout.split('END\n').slice(0, -1).map(wordsOf);
};

export const fish: Completer = async (lines) => {
  const { folder, script } = await folderWith('fish');
  const asked = lines.map((line) => `complete -C '${line}'; echo END`);
  const text = `source ${script}; ${asked.join('; ')}`;
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const { stdout } = await run(debianProgram('fish', 'fish'), ['-N', '-c', text], {
    cwd: folder,
    env,
  });
  const answers = stdout.split('END\n').slice(0, -1);
  return answers.map((answer) => wordsOf(answer).map((word) => word.split('\t')[0] ?? ''));
};

/** In zsh only a line editor completes: one runs at a terminal of its own, and shows what it offers. */
export const zsh: Completer = async (lines) => {
  const { folder, script } = await folderWith('zsh');
  const answer = join(folder, 'offered');
  const ready = join(folder, 'ready');
  await writeFile(
    join(folder, 'editor'),
    `PROMPT=; autoload -Uz compinit && compinit -D -u; source ${script}
     # What is offered goes through compadd: it is asked for its matches, and does its work.
     compadd () {
       local -a offered
       builtin compadd -O offered "$@"
       print -rl -- $offered >> ${answer}
       builtin compadd "$@"
     }
     next () { print -r -- END >> ${answer}; BUFFER= }
     zle-line-init () { print -r -- READY >> ${ready} }
     zle -N zle-line-init; zle -N next; bindkey '^X' next; bindkey '^I' complete-word`,
  );
  await writeFile(
    join(folder, 'asks'),
    `zmodload zsh/zpty
     : > ${answer}; : > ${ready}
     # Not waited for: what it shows may end without the end of a line.
     zpty -b editor zsh -f -i
     # What the editor shows is read away, or it would wait for a reader.
     until_in () {
       while (( $(grep -c "$1" $2) < $3 )) && zpty -t editor; do
         zpty -r -t editor seen || sleep 0.02
       done
     }
     zpty -w editor "source ${join(folder, 'editor')}"
     until_in READY ${ready} 1
     integer asked=0
     ask () {
       zpty -w -n editor "$1"
       until_in END ${answer} $(( ++asked ))
     }
     ${lines.map((line) => `ask $'${line}\\t\\C-x'`).join('\n')}
     zpty -d editor`,
  );
  await run(debianProgram('zsh', 'zsh'), ['-f', join(folder, 'asks')], {
    cwd: folder,
    timeout: 30_000,
  });
  return (await readFile(answer, 'utf8')).split('END\n').slice(0, -1).map(wordsOf);
};

/** Holds what a shell offers to what it should: commands, options, words. */
export async function expectOffers(completer: Completer): Promise<void> {
  const offered = await completer([
    'sluice ver',
    'sluice batch la',
    'sluice batch list --off',
    'sluice batch export --format ',
    'sluice completion f',
    'sluice verify list.csv --country D',
  ]);
  expect(offered.map((words) => [...new Set(words)].toSorted())).toEqual([
    ['verify'],
    ['launch'],
    ['--offset'],
    ['json', 'xlsx'],
    ['fish'],
    ['DE', 'DJ', 'DK', 'DM', 'DO', 'DZ'],
  ]);
}
