import tseslint from 'typescript-eslint';

export default tseslint.config(
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      eqeqeq: 'error',
      'max-len': ['error', { code: 100 }],
      'max-lines': ['error', 400],
      'no-eval': 'error',
      // The extension opens no connections and starts no program except the language server.
      'no-restricted-imports': [
        'error',
        'child_process', 'dgram', 'dns', 'http', 'http2', 'https', 'net', 'tls',
        'node:child_process', 'node:dgram', 'node:dns', 'node:http', 'node:http2', 'node:https',
        'node:net', 'node:tls',
      ],
      'no-restricted-globals': ['error', 'fetch', 'WebSocket', 'XMLHttpRequest'],
    },
  },
);
