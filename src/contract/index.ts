// The service's interface as code (`sluice/contract`)
export * from './bodies.js';
export * from './countries.js';
export * from './enums.js';
export * from './limits.js';
export * from './operations.js';
export * from './parameters.js';
export * from './records.js';
export * from './targets.js';
