#!/usr/bin/env node
import { keepCompiledCode } from './compile-cache.js';

// First of all: what is loaded before is compiled each time.
keepCompiledCode();
const { start } = await import('./start.js');
await start();
