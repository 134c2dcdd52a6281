"""Jinja expressions over texts `a` and `b`, numbers `n` and `f`, a list `l` and an object `d`; `x` is undefined."""

from __future__ import annotations

EXPRESSIONS = """
a + b + 'lit' + a
'lit' + a
a ~ b ~ n ~ f ~ none ~ l ~ d
a * 3
3 * a
a * n
(a + b) * 2
a * -1
a[0]
a[-1]
a[n]
a[1:]
a[:-1]
a[n:]
(a + b)[1:4]
a[::-1]
(a + '|' + b)[::-1]
a[::2]
a[5:1:-1]
a.strip()
a.strip(b)
a.lstrip()
a.rstrip()
(' ' + a + b + ' ').strip()
a.lstrip('\\n a')
a.rstrip('\\n a')
a.split()
a.split(b)
a.split('a')
a.split('a', 1)[-1]
a.split(none, 1)
a.rsplit(none, 1)
a.rsplit('a', 1)[0]
(a + b + a).split('a')
(a + '</think>' + b).split('</think>')[-1].lstrip('\\n')
a.splitlines()
a.splitlines(true)
(a + '\\n' + b).splitlines()
a.partition('a')
a.rpartition(b)
a.replace('a', 'XY')
a.replace('', '-')
a.replace(b, a)
a.replace('a', b, 1)
a.replace('a', '')
a.replace('a')
a.replace('a', 'b', count=1)
a.replace(1, 2)
a.strip('a', 'b')
a.strip(1)
a.split('a', maxsplit=1)
a.split(sep='a')
a.split(1)
a.split('a', 'b')
a.split('')
a.rsplit('a', 1, 2)
a.join()
a.join(1)
a.join([1])
(a + b).replace('ab', 'c')
', '.join(l)
b.join([a, a, b])
''.join([a, b])
', '.join(a)
a.join([])
a.removeprefix('a')
a.removesuffix('a')
a.ljust(9) ~ '|'
a.rjust(9, '*')
a.center(9)
a.center(8, '-') ~ a.center(7)
a.zfill(9)
('-' + a).zfill(9)
a.expandtabs()
('a\\tb' + a + '\\t' + b).expandtabs(4)
a.lower()
a.upper()
a.title()
a.capitalize()
a.swapcase()
a.casefold()
(a + b + 'Xy').lower()
a.translate({97: 'b', 98: none})
a.encode('utf-8', 'replace')
a.format(b)
'{} and {}'.format(a, b)
'{0}{1}{0}'.format(a, n)
'{x}'.format(x=a)
'{x[k]}-{x}'.format(x=d)
'{:>9}|{:<9}|{:^9}'.format(a, b, a)
'{:.2}'.format(a)
'{!r}'.format(a)
'{{}}{}'.format(a)
'{:{}}'.format(a, 9)
'{:d}'.format(n)
'{:5.1f}'.format(f)
'{}'.format_map({'x': a})
'{x}'.format_map({'x': a})
'%s' % a
'%s-%s' % (a, b)
'%(x)s' % {'x': a}
'%5s|%-5s|%.2s' % (a, b, a)
'%r' % a
'%d' % n
'%05d' % n
'%.1f' % f
'%x' % n
'%s %s' % (n, f)
'%%%s' % a
'%*d' % (5, n)
'%s' % l
a % b
a % (b,)
'%s' % (l,)
a in b
b in (a + b)
a == b
a < b
a.startswith('a')
a.endswith(b)
a.find('a')
a.count('a')
a.index(a)
a|trim
a|trim('a')
a|upper
a|lower
a|title
a|capitalize
a|length
a|string
n|string
f|string
l|string
d|string
none|string
l|upper
d|trim
a|replace('a', b)
a|replace('a', b, 1)
a|replace(b, '')
n|replace('1', 'one')
[a, b, n, f, none]|join
[a, b]|join(', ')
[a, b]|join(b)
[d, d]|join('-', attribute='k')
l|join(' ')
a|join('.')
a|list
a|first
a|last
a|reverse
a|reverse|list
a|batch(2)|list
a|slice(2)|list
a|sort|join
a|unique|join
a|map('upper')|join
l|map('string')|join('|')
a|indent
a|indent(2)
a|indent(2, true)
(a + '\\n\\n' + b)|indent(3, true, true)
a|indent('> ', true)
a|center(12)
a|truncate(4, true, '')
a|truncate(9, false, '...', 0)
(a ~ ' ' ~ b ~ ' some more words')|truncate(9)
a|wordwrap(3)
a|wordcount
a|striptags
a|escape
a|e
(a|e) + b
(a|e)|upper
a|forceescape
a|safe
(a|safe) + b
a + (b|safe)
(a|safe) ~ b
('<b>'|safe) + a
('<b>'|safe + a).replace('b', '<')
(a|safe)|replace('a', '<')
(a|safe).join([a, '<'])
[a|safe, b]|join
(a|safe).split('a')
(a|safe).strip()
(a|safe)[1:]
(a|safe) * 2
(a|safe) % b
'%s'|safe|format(a)
(a|safe)|tojson
(a|safe).format(b)
'{}'.format(a|safe)
('{}'|safe).format(a)
a|safe|string
(a|e)|length
a|urlencode
a|urlize
a|xmlattr
{'k': a}|xmlattr
a|pprint
d|pprint
a|tojson
a|format(b)
'%s,%s'|format(a, n)
a|default(b)
x|default(a)
a|d(b, true)
a|int
a|float
n|int
f|float
n|float
n|abs
f|round
f|round(1)
f|int
a|filesizeformat
a|attr('upper')
a|attr('_runs')
a._runs
a['_runs']
n._source
a.upper
a['upper']()
a|random|length
a|min
(a|safe).escape(b)
(a|safe).unescape()
a|max
a|sum
a and b
a or b
not a
a if n > 1 else b
(a, b)
[a]
[a, [b]]
{'k': a}
{a: b}
{a: 1}[a]
d
d.items()
d.keys()|list
d.values()|list
d|items|list
d|dictsort
namespace(x=a)
namespace(x=a).x
dict(x=a)
n + 1
n - 1
n * 2
n / 2
n // 2
n % 2
n ** 2
-n
n + f
n == 1
n|string + a
f ~ ''
n ~ a
n is number
n is integer
f is float
n is odd
f is number
n in [1, 2, 3]
'abc'[n]
range(n)|list
a + n
a + l
a + none
a + x
x + a
a - b
a / b
n + a
l + a
a * b
a * x
x * a
a * f
none ~ a
x ~ a
a.x
a.x.y
a()
a|nofilter
l + l
l * 2
[] + l
l[0]
l[1:]
l|first
l|tojson
d|tojson
d.k
d['k']
d.get('k')
d.get('none', a)
d.missing
n[0]
a[b]
a[a]
f.x
cycler(a, b).next()
lipsum is callable
loop
strftime_now('%Y-%m-%d')
strftime_now(a)
bos_token + a
bos_token * 2
""".strip().splitlines()
