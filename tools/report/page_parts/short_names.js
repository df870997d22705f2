'use strict';

// Shortens function names to the available width by the rule of tables in the terminal
// (ShortenName() in common/draw/name_text.h): drops the origin and arguments first, then template
// arguments, outer scopes one by one, the module, and only then letters of the function's own name.

function moduleLength(name) {
  const mark = name.indexOf('!');
  return mark >= 0 && !/[ <(]/.test(name.slice(0, mark)) ? mark + 1 : 0;
}

// Characters as readers count them: those beyond U+FFFF are one.
function lettersOf(text) {
  return [...text];
}

function withoutMiddle(text, room) {
  const letters = lettersOf(text);
  if (letters.length <= room) return text;
  if (room <= 0) return '';
  const tail = Math.floor((room - 1) / 3);
  return `${letters.slice(0, room - 1 - tail).join('')}…${letters.slice(letters.length - tail).join('')}`;
}

// `pieces` are from the page's data: [module's length, length without origin, length without
// arguments, scopes with their separators..., own name]; [] if only letters can be dropped; undefined
// for a function without origin, scopes and arguments.
function shortName(name, pieces, room) {
  const fits = (text) => lettersOf(text).length <= room;
  if (fits(name)) return name;
  if (pieces?.length === 0) return withoutMiddle(name, room);
  const [module, whole, named, ...parts] = pieces
    ?? [moduleLength(name), name.length, name.length, name.slice(moduleLength(name))];
  const own = parts.pop();
  if (fits(name.slice(0, whole))) return name.slice(0, whole);
  if (fits(name.slice(0, named))) return name.slice(0, named);
  for (const kept of [name.slice(0, module), '']) {
    for (let leftOut = 0; leftOut <= parts.length; ++leftOut) {
      const separator = leftOut === 0 ? '' : `…${parts[leftOut - 1].match(/::$|.$/)[0]}`;
      const text = `${kept}${separator}${parts.slice(leftOut).join('')}${own}`;
      if (fits(text)) return text;
    }
  }
  return withoutMiddle(own, room);
}
