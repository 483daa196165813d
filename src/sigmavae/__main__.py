"""python -m sigmavae"""

from sigmavae.cli import program

if __name__ == "__main__":
    program()
