// How the page's scripts are linted. A function fits a screen, a file is one idea.
import js from "@eslint/js";
import globals from "globals";

export default [
  { ignores: ["harness/report/page/bundle.js"] },
  js.configs.recommended,
  { files: ["*.config.js"], languageOptions: { globals: globals.node } },
  {
    files: ["harness/**/*.js"],
    languageOptions: { globals: globals.browser },
    rules: {
      "max-len": ["error", { code: 120 }],
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", 60],
      "no-restricted-globals": ["error", "event", "name", "status", "length", "top", "parent", "find", "close", "open"],
      "no-shadow": "error",
      "no-var": "error",
      "prefer-const": "error",
      "object-shorthand": "error",
      eqeqeq: "error",
    },
  },
];
