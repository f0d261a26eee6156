;; Finds the bytes of CSV that mean something, sixteen at a time: the delimiter, quotes, line feeds.
;; `npm run kernel` compiles this into find-stops.wasm.txt; a test holds the two together.
(module
  (memory (export "memory") 1)

  ;; Writes the address of each such byte from $from up to $to, as 32-bit words, to $out.
  ;; $from is a multiple of 16; what stands behind $to, up to the next multiple, is looked at too and
  ;; must be none of them. Returns where the words end.
  (func (export "find")
    (param $from i32) (param $to i32) (param $out i32) (param $delimiter i32) (result i32)
    (local $found i32)
    (local $bytes v128)
    (local $delimiters v128)
    (local $quotes v128)
    (local $lineFeeds v128)
    (local.set $delimiters (i8x16.splat (local.get $delimiter)))
    (local.set $quotes (i8x16.splat (i32.const 0x22)))
    (local.set $lineFeeds (i8x16.splat (i32.const 0x0a)))
    (block $end
      (loop $blocks
        (br_if $end (i32.ge_u (local.get $from) (local.get $to)))
        (local.set $bytes (v128.load (local.get $from)))
        ;; One bit for each byte.
        (local.set $found
          (i8x16.bitmask
            (v128.or
              (i8x16.eq (local.get $bytes) (local.get $delimiters))
              (v128.or
                (i8x16.eq (local.get $bytes) (local.get $quotes))
                (i8x16.eq (local.get $bytes) (local.get $lineFeeds))))))
        (block $next
          (loop $bits
            (br_if $next (i32.eqz (local.get $found)))
            (i32.store
              (local.get $out)
              (i32.add (local.get $from) (i32.ctz (local.get $found))))
            (local.set $out (i32.add (local.get $out) (i32.const 4)))
            ;; The lowest bit goes.
            (local.set $found
              (i32.and (local.get $found) (i32.sub (local.get $found) (i32.const 1))))
            (br $bits)))
        (local.set $from (i32.add (local.get $from) (i32.const 16)))
        (br $blocks)))
    (local.get $out)))
