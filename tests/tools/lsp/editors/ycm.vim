" Drives Vim with YouCompleteMe. Writes "name: value" lines to $RESULT; the test compares them.
set nocompatible runtimepath^=/usr/share/vim-youcompleteme
filetype plugin on
" Follows EDITORS.md or the manual page.
if empty($WITH_MANUAL_PAGE)
  let s:blocks = split(join(readfile($FIELDCOST_README), "\n"), '```vim\n')[1:]
  let s:settings = split(split(s:blocks[0], '```')[0], "\n")
else
  let s:page = readfile($FIELDCOST_SOURCE . '/deploy/man/fieldcost-lsp.1')
  let s:begin = index(s:page, 'Vim with YouCompleteMe:') + 2
  let s:settings = s:page[s:begin : index(s:page, '.Ed', s:begin) - 1]
  call map(s:settings, 'substitute(v:val, "\\\\e", "\\\\", "g")')
  let g:ycm_enable_inlay_hints = 1
endif
call writefile(s:settings, $RESULT . '.vimrc')
execute 'source ' . fnameescape($RESULT . '.vimrc')
let g:ycm_server_python_interpreter = '/usr/bin/python3'
let g:ycm_confirm_extra_conf = 0
let g:ycm_auto_hover = ''

function! s:Report(name, value) abort
  call writefile([a:name . ': ' . a:value], $RESULT, 'a')
endfunction

" Timers run while it sleeps.
function! s:Await(condition) abort
  for l:step in range(1, 1000)
    if eval(a:condition) | return 1 | endif
    sleep 30m
  endfor
  return 0
endfunction

function! Hints() abort
  let l:hints = []
  for l:line in range(1, line('$'))
    for l:property in prop_list(l:line)
      if l:property.type =~# '^YCM_INLAY' && l:property.type !=# 'YCM_INLAY_PADDING'
        call add(l:hints, l:line . ':' . l:property.col)
      endif
    endfor
  endfor
  return l:hints
endfunction

function! Run() abort
  try
    call s:Report('ycmd', py3eval('ycm_state.ServerPid()'))
    call s:Report('ready', s:Await('py3eval("ycm_state.IsServerReady()")'))
    call s:Report('shown', s:Await('!empty(Hints())'))
    call s:Report('hints', string(Hints()))
    redraw!
    call s:Report('screen', join(map(range(1, &columns), 'screenstring(2, v:val)'), ''))
    call cursor(2, 29)
    call s:Report('hover', substitute(youcompleteme#GetCommandResponse('GetHover'), '\n', '|', 'g'))
  catch
    call s:Report('error', v:exception . ' ' . v:throwpoint)
  endtry
  qall!
endfunction
